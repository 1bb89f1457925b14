package settings

import (
	"fmt"
	"log/slog"
)

// Secret is a text that never shows itself: whatever prints, logs or marshals it gets a mask. Only Reveal gives it
// away.
type Secret struct{ text string }

// NewSecret hides text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal gives the text itself, for the one place that has to send it.
func (s Secret) Reveal() string { return s.text }

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.text == "" }

// String is the mask, or nothing where there is no secret.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return masked
}

// Format prints the mask for every verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// LogValue is what slog writes.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is what JSON and other encodings write.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
