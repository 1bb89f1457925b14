package failure

// Names that concern the doors for agents and people: API, MCP, command line.
const ()

var doorArea = map[Name]texts{}
