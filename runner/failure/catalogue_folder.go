package failure

// Names that concern folders beside the project's own: browse, create, mirror, write.
const (
	PathInvalid      Name = "path_invalid"
	BrowseOutside    Name = "browse_outside_roots"
	FolderMissing    Name = "folder_missing"
	FolderUnreadable Name = "folder_unreadable"
	ListingCut       Name = "listing_cut"
)

var folderArea = map[Name]texts{
	PathInvalid: {
		"the path is not absolute, or holds a NUL character or a `..` component",
		`send a plain absolute path`},
	BrowseOutside: {
		"the folder lies outside what `roots` on this machine allows",
		"choose a folder at or below one of them, or add it to `roots`"},
	FolderMissing: {
		`there is no such folder`,
		`look at the folder above it; it may have been moved or removed`},
	FolderUnreadable: {
		`the folder can't be read`,
		`look at its owner and mode, or choose another folder`},
	ListingCut: {
		`the folder has more entries than are shown at once`,
		"choose a folder below it, or raise `browse.max_entries`"},
}
