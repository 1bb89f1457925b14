package failure

// Names that concern the hub: its store, its pipeline, its page.
const (
	HubStoreNewer      Name = "hub_store_newer"
	HubStoreDamaged    Name = "hub_store_damaged"
	HubStoreUnwritable Name = "hub_store_unwritable"
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
}
