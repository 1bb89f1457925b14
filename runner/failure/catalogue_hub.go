package failure

// Names that concern the hub: its store, its pipeline, its page.
const (
	HubStoreNewer      Name = "hub_store_newer"
	HubStoreDamaged    Name = "hub_store_damaged"
	HubStoreUnwritable Name = "hub_store_unwritable"

	HubNotListening     Name = "hub_not_listening"
	HubNotOurs          Name = "hub_not_ours"
	Forbidden           Name = "forbidden"
	NotFound            Name = "not_found"
	AlreadyExists       Name = "already_exists"
	LastOwner           Name = "last_owner"
	AlwaysAllowRefused  Name = "teto_do_sempre_permitir" // the contract's own names, where it has them
	NoContainerService  Name = "sem_broker_na_instalacao"
	NoOutcomeReported   Name = "no_outcome_reported"
	EnvironmentLost     Name = "environment_lost"
	TypedActionsMissing Name = "typed_actions_missing"
)

var hubArea = map[Name]texts{
	HubStoreNewer: {
		`the hub's store was written by a newer runner`,
		`use that version or a later one; the file was left as it is`},
	HubStoreDamaged: {
		`the hub's store can't be read, after a fault of the disk perhaps`,
		`check the disk and put back a copy of the file; without one, move it away: people, projects and rules of autonomy are then set up anew`},
	HubStoreUnwritable: {
		`the hub's store can't be written, and nothing may be decided that is not in it`,
		`look at owner and mode of the hub's folder, and whether its disk is full or mounted read-only`},
	HubNotListening: {
		`the hub can't listen at this address`,
		"stop what listens there, another hub perhaps, or set `hub.listen`"},
	HubNotOurs: {
		`what listens at the address of this machine's hub is not that hub: it ended without a word, and another program took its port`,
		"start the hub again with `runner hub` or `runner up`; the owner's token was not shown to it"},
	Forbidden: {
		`the role of who asks, or the kind of token, does not allow it`,
		`ask a person of the workspace with a higher role`},
	NotFound: {
		`there is nothing with this name`,
		`list what there is`},
	AlreadyExists: {
		`there is one of this name already`,
		`take another name, or use the one that is there`},
	LastOwner: {
		`this person is the only owner of the workspace`,
		`make somebody else an owner first`},
	AlwaysAllowRefused: {
		`actions of this kind are decided by a person each time`,
		`approve this one alone`},
	NoContainerService: {
		`no daemon is paired with this hub that could look after containers`,
		"pair this machine with `runner login`"},
	NoOutcomeReported: {
		`the action was approved, and its proposer did not report in time what became of it`,
		`look at what the proposer did; propose the action again if nothing happened`},
	EnvironmentLost: {
		`the hub was restarted before the action could run, and its environment is never stored`,
		`propose the action again`},
	TypedActionsMissing: {
		`the runner that is connected does not carry out actions of this type`,
		`update the runner`},
}
