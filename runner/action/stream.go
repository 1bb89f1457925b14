package action

// Events of a running action (protocol.md section 12, output and progress). They are neither kept nor acknowledged.
const (
	EventExecOutput     = "exec_output"
	EventActionProgress = "action_progress"
)

// Bounds of what a running action tells (protocol.md section 12).
const (
	MaxOutputData       = 64 << 10 // bytes of one ExecOutput, before base64
	MaxOutputsPerSecond = 20       // for one action
	MaxProgressRate     = 4        // a second, for one action
)

// ExecOutput is a piece of a running command's output.
type ExecOutput struct {
	Ref    string `json:"ref"`
	Offset int64  `json:"offset"` // how many bytes of output came before these; a gap shows what was dropped
	Data   []byte `json:"data"`
}

// Stages of an ActionProgress that tell of a second lock: a person at the runner's machine has to allow the action
// there, or has. No message can.
const (
	StageHeld      = "waits_for_confirmation"
	StageConfirmed = "confirmed"
)

// ActionProgress tells how far a pull, a clone or a mirror is.
type ActionProgress struct {
	Ref     string `json:"ref"`
	Stage   string `json:"stage"`
	Current int64  `json:"current,omitempty"`
	Total   int64  `json:"total,omitempty"` // zero: not known
	Unit    string `json:"unit,omitempty"`  // "bytes" or "files"
}
