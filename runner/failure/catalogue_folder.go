package failure

// Names that concern folders beside the project's own: browse, create, mirror, write.
const ()

var folderArea = map[Name]texts{}
