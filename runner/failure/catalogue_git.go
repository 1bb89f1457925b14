package failure

// Names that concern the typed git actions and clones.
const ()

var gitArea = map[Name]texts{}
