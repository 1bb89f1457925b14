package policy

// The closed list of rules (section 7).
const (
	RoleMinimum  Rule = "role_minimum"
	AutonomyDeny Rule = "autonomy_deny"
	BuiltinDeny  Rule = "builtin_deny"
	FileDeny     Rule = "file_deny"

	Default                 Rule = "default"
	AutonomyRequireApproval Rule = "autonomy_require_approval"
	FileAsk                 Rule = "file_ask"
	CompoundUnmatched       Rule = "compound_unmatched"
	CeilingExternalEffect   Rule = "ceiling_external_effect"
	CeilingPrivileged       Rule = "ceiling_privileged"
	CeilingTypedGit         Rule = "ceiling_typed_git"
	CeilingUnresolved       Rule = "ceiling_unresolved"
	CeilingPolicyFile       Rule = "ceiling_policy_file"
	CeilingPathScope        Rule = "ceiling_path_scope"
	CeilingProtectedMerge   Rule = "ceiling_protected_merge"
	CeilingInstructionPatch Rule = "ceiling_instruction_patch"
	CeilingParallelism      Rule = "ceiling_parallelism"
	CeilingContainerRemove  Rule = "ceiling_container_remove"

	ContainerFloor      Rule = "container_floor"
	AutonomyAutoApprove Rule = "autonomy_auto_approve"
	FileAllow           Rule = "file_allow"
	CompoundAllAllowed  Rule = "compound_all_allowed"
	ScopeCD             Rule = "scope_cd"
)
