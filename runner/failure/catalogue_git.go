package failure

// Names that concern the typed git actions and clones.
const (
	GitMissing              Name = "git_missing"
	GitFailed               Name = "git_failed"
	GitProtocolRefused      Name = "git_protocol_refused"
	GitAuthFailed           Name = "git_auth_failed"
	GitIdentityMissing      Name = "git_identity_missing"
	NotARepository          Name = "not_a_repository"
	RepositoryConfigRefused Name = "repository_config_refused"
	NothingToCommit         Name = "nothing_to_commit"
	KeyNotCommitted         Name = "key_not_committed"
	PathNotInRepository     Name = "path_not_in_repository"
	BranchInvalid           Name = "branch_name_invalid"
	BranchExists            Name = "branch_exists"
	RevisionNotFound        Name = "revision_not_found"
	RemoteNotFound          Name = "remote_not_found"
	RemoteUnreachable       Name = "remote_unreachable"
	PushRejected            Name = "push_rejected"
	CloneURLRefused         Name = "clone_url_refused"
)

var gitArea = map[Name]texts{
	GitMissing: {
		`git was not found in PATH`,
		`install git, or correct the PATH of the daemon`},
	GitFailed: {
		`git could not do it`,
		`read git's own words`},
	GitProtocolRefused: {
		"the address is of a protocol that `git.protocols` does not name",
		"use https or ssh, or add the protocol to `git.protocols`"},
	GitAuthFailed: {
		`the other side does not accept the credential, or there was none for its host`,
		`check that the credential is current, is for this host, and may do this`},
	GitIdentityMissing: {
		`there is no name and address for the commit`,
		"set `user.name` and `user.email` of git on this machine, or send an author"},
	NotARepository: {
		`there is no git repository at this folder or above it within the project`,
		"make one with `git init`, or choose another folder"},
	RepositoryConfigRefused: {
		`the repository's configuration would make the action mean something else`,
		`remove the named key from the repository's configuration; nothing was done`},
	NothingToCommit: {
		`nothing has changed that is not ignored`,
		`look at the paths and at .gitignore; there is nothing to do otherwise`},
	KeyNotCommitted: {
		`the file holds a key of this machine, which is never committed`,
		`name it in .gitignore; nothing else has changed`},
	PathNotInRepository: {
		`the path is not one of the repository's`,
		`send a path relative to the working directory, of a file that is there or was there`},
	BranchInvalid: {
		`git does not take this as the name of a branch`,
		`choose another name`},
	BranchExists: {
		`there is a branch of this name already`,
		`use it, or choose another name`},
	RevisionNotFound: {
		`the repository has no such branch, tag or commit`,
		`check the name; a new repository has none before its first commit`},
	RemoteNotFound: {
		`there is no repository at the address, or the credential may not see it`,
		`check the address and the credential`},
	RemoteUnreachable: {
		`nothing answers at the repository's address, or the connection broke`,
		`check the address, the network and the proxy, then try again`},
	PushRejected: {
		`the other side has commits that this branch lacks, or does not take the push`,
		`fetch and merge what is there, or push to another branch; nothing is ever forced`},
	CloneURLRefused: {
		`this is no address that may be cloned`,
		`send an https or ssh address without a password in it`},
}
