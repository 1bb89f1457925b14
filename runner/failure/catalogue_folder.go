package failure

// Names that concern folders beside the project's own: browse, create, mirror, write.
const (
	PathInvalid      Name = "path_invalid"
	BrowseOutside    Name = "browse_outside_roots"
	FolderMissing    Name = "folder_missing"
	FolderUnreadable Name = "folder_unreadable"
	ListingCut       Name = "listing_cut"

	WritePathInvalid Name = "write_path_invalid"
	WriteIntoGit     Name = "write_into_git"
	LinkInTheWay     Name = "link_in_the_way"
	NotRegularFile   Name = "not_a_regular_file"
	ContentTooLarge  Name = "content_too_large"
	ContentChanged   Name = "content_changed"
	WriteFailed      Name = "write_failed"

	BaseMissing    Name = "base_missing"
	BaseInvalid    Name = "base_invalid"
	SegmentInvalid Name = "segment_invalid"
	FolderNotEmpty Name = "folder_not_empty"

	MirrorInvalid    Name = "mirror_path_invalid"
	MirrorInside     Name = "mirror_inside_workspace"
	MirrorAround     Name = "mirror_holds_workspace"
	MirrorNotAllowed Name = "mirror_not_allowed"
	MirrorFailed     Name = "mirror_failed"
	MirrorIncomplete Name = "mirror_incomplete"
	MirrorNotGranted Name = "mirror_not_granted"
)

var folderArea = map[Name]texts{
	MirrorNotGranted: {
		`the destination is not the one that the server granted when this connection was joined`,
		`a changed destination takes effect at the next join`},
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

	WritePathInvalid: {
		"the path is not a plain path relative to the project",
		"send the path of a file, relative to the project folder, without `..`"},
	WriteIntoGit: {
		"the path leads into `.git`, which belongs to git itself",
		"use a git action; nothing was written"},
	LinkInTheWay: {
		`a part of the path is a link, and links are not followed`,
		`write to the place that the link leads to, or remove the link; nothing was written`},
	NotRegularFile: {
		`what has this name, or the name of one of its folders, is something else`,
		`choose another path, or move away what is there; nothing was written`},
	ContentTooLarge: {
		`the content is larger than one action may write`,
		`write it with a command`},
	ContentChanged: {
		`the file does not hold what was expected`,
		`read the file again, and propose the change on top of it; nothing was written`},
	WriteFailed: {
		`the file could not be written`,
		`look at owner and mode of the folder; the file is as it was`},

	MirrorInvalid: {
		"the mirror's destination is not an absolute path without NUL, `.` and `..`",
		`set an absolute path as the project's mirror on the server`},
	MirrorInside: {
		`the mirror's destination is the project folder or lies in it, so the mirror would copy itself`,
		`choose a destination beside the project folder`},
	MirrorAround: {
		`the mirror's destination holds the project folder, so the mirror would write into the project`,
		`choose a destination beside the project folder`},
	MirrorNotAllowed: {
		"the mirror's destination lies outside what `roots` on this machine allows, or in a dot folder",
		"choose a plain folder below one of them, or add one to `roots`"},
	MirrorFailed: {
		`the mirror could not begin`,
		`look at the folders on both sides; nothing was copied`},
	MirrorIncomplete: {
		`some files could not be copied`,
		`look at the named file on both sides; the next round tries again`},

	BaseMissing: {
		`this daemon has no folder below which it makes projects`,
		"start it with --base, or set `base`"},
	BaseInvalid: {
		`the folder below which projects are made breaks a rule`,
		"correct --base or the setting `base`"},
	SegmentInvalid: {
		`the project's folder does not lie inside the base`,
		`send a path relative to the base, without links that lead out of it`},
	FolderNotEmpty: {
		`the folder holds something and is no repository, so nothing is cloned into it`,
		`move away what is there, or choose another folder; nothing was changed`},
}
