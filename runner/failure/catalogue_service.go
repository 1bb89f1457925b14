package failure

// Names that concern services, packages, up and down.
const ()

var serviceArea = map[Name]texts{}
