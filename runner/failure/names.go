package failure

// Name is a stable name of a failure: snake_case, never re-used for something else.
type Name string

// The names, grouped by where a person meets them. Each has its entry in catalogue.go.
const (
	// General.
	Internal        Name = "internal"
	Usage           Name = "usage"
	SettingsInvalid Name = "settings_invalid"
	SettingInvalid  Name = "setting_invalid"
	HomeAsRoot      Name = "home_as_root"

	// Connection.
	TicketRefused     Name = "ticket_refused"
	NotMember         Name = "not_a_member"
	ProjectNotFound   Name = "project_not_found"
	ProjectMode       Name = "project_mode"
	RateLimited       Name = "rate_limited"
	ServerUnavailable Name = "server_unavailable"
	ServerUnreachable Name = "server_unreachable"
	BadServerAnswer   Name = "bad_server_answer"
	ClockSkew         Name = "clock_skew"
	UpgradeRefused    Name = "upgrade_refused"
	JoinRefused       Name = "join_refused"
	SecondRunner      Name = "second_runner"
	CapabilityMissing Name = "capability_missing"
	JoinTimeout       Name = "join_timeout"
	ConnectionLost    Name = "connection_lost"
	ServerDraining    Name = "server_draining"
	HeartbeatLost     Name = "heartbeat_lost"
	ProtocolError     Name = "protocol_error"
	ReadLimit         Name = "read_limit"
	CredentialMissing Name = "credential_missing"
	CredentialInvalid Name = "credential_invalid"
	KeyFileInvalid    Name = "key_file_invalid"
	CAFileInvalid     Name = "ca_file_invalid"
	ProxyInvalid      Name = "proxy_invalid"
	ProxyRefused      Name = "proxy_refused"

	// Messages.
	MalformedAction    Name = "malformed_action"
	UnknownEvent       Name = "unknown_event"
	CommandEmpty       Name = "command_empty"
	CommandNUL         Name = "command_nul"
	InvalidEnv         Name = "invalid_env"
	EnvNotAllowed      Name = "env_not_allowed"
	InvalidDeadline    Name = "invalid_deadline"
	RefReused          Name = "ref_reused"
	QueueFull          Name = "queue_full"
	Draining           Name = "draining"
	ExpiredBeforeStart Name = "expired_before_start"
	ResultDropped      Name = "result_dropped"

	// Commands.
	Cancelled      Name = "cancelled"
	Interrupted    Name = "interrupted"
	TimedOut       Name = "timed_out"
	KilledBySignal Name = "killed_by_signal"
	CouldNotStart  Name = "could_not_start"
	BashMissing    Name = "bash_missing"
	ShellInvalid   Name = "shell_invalid"
	ShellMissing   Name = "shell_missing"
	CommandTooLong Name = "command_too_long"
	SpoolFailed    Name = "spool_failed"

	// Folders.
	CwdNotAbsolute     Name = "cwd_not_absolute"
	CwdInvalid         Name = "cwd_invalid"
	CwdOutside         Name = "cwd_outside"
	CwdMissing         Name = "cwd_missing"
	RootNotAbsolute    Name = "root_not_absolute"
	RootSystemFolder   Name = "root_system_folder"
	RootNotAllowed     Name = "root_not_allowed"
	RootHoldsOurs      Name = "root_holds_ours"
	RootNotFolder      Name = "root_not_a_folder"
	RootNotCreated     Name = "root_not_created"
	RootNotWritable    Name = "root_not_writable"
	RootNotConfirmable Name = "root_not_confirmable"
	DiskFull           Name = "disk_full"

	// Journal.
	StateLocked       Name = "state_locked"
	JournalCorrupt    Name = "journal_corrupt"
	JournalNewer      Name = "journal_newer"
	JournalUnwritable Name = "journal_unwritable"

	// Containers.
	EngineNotInstalled    Name = "engine_not_installed"
	EngineNotRunning      Name = "engine_not_running"
	EngineNoPermission    Name = "engine_no_permission"
	EngineTooOld          Name = "engine_too_old"
	EngineUnsupported     Name = "engine_unsupported"
	EngineRefused         Name = "engine_refused"
	SpecInvalid           Name = "spec_invalid"
	SpecOverCeiling       Name = "spec_over_ceiling"
	ContainerRoot         Name = "container_root_refused"
	ContainerForeign      Name = "container_foreign"
	CredentialInContainer Name = "credential_in_container"
	ContainerDrift        Name = "container_drift"
	ContainerGone         Name = "container_gone"
	ImageUnusable         Name = "image_unusable"
	ImageNotFound         Name = "image_not_found"
	ImageDenied           Name = "image_denied"
	ImageRateLimited      Name = "image_rate_limited"
	ImagePullFailed       Name = "image_pull_failed"
	ImagePullStalled      Name = "image_pull_stalled"
	ImagePullInProgress   Name = "image_pull_in_progress"
	RegistryUnreachable   Name = "registry_unreachable"

	// Policy.
	PermissionsFileInvalid    Name = "permissions_file_invalid"
	PermissionsFileNotWritten Name = "permissions_file_not_written"
	PolicyDenied              Name = "policy_denied"
	VectorFileInvalid         Name = "vector_file_invalid"

	// Hub.
	BadRequest            Name = "bad_request"
	UnknownActionType     Name = "unknown_action_type"
	ActionNotFound        Name = "action_not_found"
	InvalidTransition     Name = "invalid_transition"
	ActionDenied          Name = "acao_ja_recusada" // the contract's own names, where it has them
	AlreadyMerged         Name = "pr_ja_mergeado"
	MergeAlreadyProposed  Name = "merge_ja_proposto"
	NoRunner              Name = "no_runner"
	HostRefused           Name = "host_refused"
	Unauthorized          Name = "unauthorized"
	RunnerGone            Name = "runner_gone"
	ModulesFileInvalid    Name = "modules_file_invalid"
	ResourcesBelowMinimum Name = "resources_below_minimum"
	NoDemoFolder          Name = "no_demo_folder"
)
