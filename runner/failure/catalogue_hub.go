package failure

// Names that concern the hub: its store, its pipeline, its page.
const ()

var hubArea = map[Name]texts{}
