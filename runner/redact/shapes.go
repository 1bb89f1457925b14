package redact

import "regexp"

// shapes are texts that look like a secret, whoever's it is: tokens of a server, of well-known hosts and of the wire,
// keys, and passwords in an address.
var shapes = []*regexp.Regexp{
	regexp.MustCompile(`brb_[A-Za-z0-9_-]+`),
	regexp.MustCompile(`\b(?:gh[pousr]_|github_pat_|glpat-|xox[abp]-|sk-)[A-Za-z0-9_-]{8,}`),
	regexp.MustCompile(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`),
	regexp.MustCompile(`(?i)(?:bearer|basic) [A-Za-z0-9._~+/=-]{8,}`),
	regexp.MustCompile(`://[^/\s:@"]+:[^/\s@"]+@`),
	regexp.MustCompile(`"d"\s*:\s*"[A-Za-z0-9_-]{20,}"`),
	regexp.MustCompile(`ticket=[A-Za-z0-9_-]+`),
}

// Shapes is text without what looks like a secret. It is for what a person gives away, where taking out too much costs
// little.
func Shapes(text []byte) []byte {
	for _, shape := range shapes {
		text = shape.ReplaceAll(text, []byte(Mark))
	}
	return text
}
