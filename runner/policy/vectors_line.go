package policy

import (
	"encoding/json"
	"strconv"
)

// readVector reads a line of either shape.
func readVector(text []byte) (Vector, *problem) {
	v := Vector{}
	members, p := lineMembers(text, &v)
	if p != nil {
		return v, p
	}
	if v.ID == "" {
		return v, &problem{0, "the id is missing", `give it an id: {"id": "…", …}`}
	}
	if has(members, "pattern") {
		v.Match = &MatchVector{}
		for _, m := range members {
			switch m.name {
			case "pattern":
				v.Match.Pattern, p = m.text()
			case "command":
				v.Match.Command, p = m.text()
			case "match":
				v.Match.Match, p = m.boolean()
			}
			if p != nil {
				return v, p
			}
		}
		return v, demand(members, "command", "match")
	}
	if p := v.readDecide(members); p != nil {
		return v, p
	}
	if p := demand(members, "expect"); p != nil {
		return v, p
	}
	if v.Decide.Policy == "" || v.Decide.Rule == "" {
		return v, &problem{0, "expect has no policy or no rule", `write both: "expect": {"policy": "…", "rule": "…"}`}
	}
	return v, nil
}

// readProposal reads a line of the decide shape and does not ask for what it expects.
func readProposal(text []byte) (Vector, *problem) {
	v := Vector{}
	members, p := lineMembers(text, &v)
	if p != nil {
		return v, p
	}
	return v, v.readDecide(members)
}

// lineMembers gives the members of a line and sets the id as soon as it is known.
func lineMembers(text []byte, v *Vector) (members []jsonMember, p *problem) {
	if p = checkJSON(text); p != nil {
		return nil, p
	}
	if members, p = readObject(text); p != nil {
		return nil, p
	}
	for _, m := range members {
		if m.name == "id" {
			if v.ID, p = m.text(); p != nil {
				return nil, p
			}
		}
	}
	return members, nil
}

// readDecide takes the members of the decide shape. As in a permissions.json, members that it doesn't know are
// ignored and names are compared exactly.
func (v *Vector) readDecide(members []jsonMember) (p *problem) {
	d := &DecideVector{}
	v.Decide = d
	if p = demand(members, "action"); p != nil {
		return p
	}
	for _, m := range members {
		switch m.name {
		case "action":
			p = m.each(func(m jsonMember) (p *problem) {
				switch m.name {
				case "type":
					d.Action.Type, p = m.text()
				case "command":
					d.Action.Command, p = m.text()
				case "cwd":
					d.Action.Cwd, p = m.text()
				case "path":
					d.Action.Path, p = m.text()
				case "target_branch":
					d.Action.TargetBranch, p = m.text()
				}
				return p
			})
		case "role":
			var role string
			role, p = m.oneOf(string(Viewer), string(Developer), string(Maintainer), string(Owner))
			d.Role = Role(role)
		case "autonomy":
			p = m.each(d.readAutonomy)
		case "permissions":
			p = m.each(d.readList)
		case "context":
			p = m.each(d.readContext)
		case "expect":
			p = m.each(d.readExpect)
		case "needless":
			d.Needless, p = m.boolean()
		}
		if p != nil {
			return p
		}
	}
	return nil
}

func (d *DecideVector) readAutonomy(m jsonMember) (p *problem) {
	var mode string
	switch m.name {
	case "mode":
		mode, p = m.oneOf(string(AutoApprove), string(RequireApproval), string(Deny))
		d.Autonomy.Mode = Verdict(mode)
	case "origin":
		d.Autonomy.Origin, p = m.oneOf("specific", "wildcard")
	}
	return p
}

func (d *DecideVector) readList(m jsonMember) *problem {
	f := File{Permissions: d.Permissions}
	list := f.list(List(m.name))
	if list == nil {
		return nil
	}
	texts, p := m.texts()
	*list = texts
	d.Permissions = f.Permissions
	return p
}

func (d *DecideVector) readContext(m jsonMember) (p *problem) {
	switch m.name {
	case "scope_root":
		d.Context.ScopeRoot, p = m.text()
	case "also_inside":
		if !m.null() {
			d.Context.AlsoInside, p = m.texts()
		}
	case "container_running":
		d.Context.ContainerRunning, p = m.boolean()
	}
	return p
}

func (d *DecideVector) readExpect(m jsonMember) (p *problem) {
	var text string
	switch m.name {
	case "policy":
		text, p = m.oneOf(string(AutoApprove), string(RequireApproval), string(Deny))
		d.Policy = Verdict(text)
	case "rule":
		text, p = m.text()
		d.Rule = Rule(text)
	}
	return p
}

func has(members []jsonMember, name string) bool {
	for _, m := range members {
		if m.name == name {
			return true
		}
	}
	return false
}

func demand(members []jsonMember, names ...string) *problem {
	for _, name := range names {
		if !has(members, name) {
			return &problem{0, "the member " + strconv.Quote(name) + " is missing", "compare it with the lines of the vector files"}
		}
	}
	return nil
}

func (m jsonMember) null() bool { return m.value[0] == 'n' }

// wrong says that the member's value is not what it should be.
func (m jsonMember) wrong(want string) *problem {
	return &problem{m.valueAt, m.name + " is " + kindOf(m.value[0]) + ", not " + want, "write " + want}
}

// text is the value of a member that is text or null.
func (m jsonMember) text() (string, *problem) {
	if m.null() {
		return "", nil
	}
	if m.value[0] != '"' {
		return "", m.wrong("a string")
	}
	text, p := readText(m.value, 0, len(m.value))
	return text, m.move(p)
}

// oneOf is text that must be one of these words, or none.
func (m jsonMember) oneOf(words ...string) (string, *problem) {
	text, p := m.text()
	if p != nil || text == "" {
		return "", p
	}
	for _, w := range words {
		if text == w {
			return w, nil
		}
	}
	known, _ := json.Marshal(words)
	return "", &problem{m.valueAt, "there is no " + m.name + " " + strconv.Quote(text), "use one of " + string(known)}
}

func (m jsonMember) boolean() (bool, *problem) {
	switch m.value[0] {
	case 't', 'f', 'n':
		return m.value[0] == 't', nil
	}
	return false, m.wrong("a boolean")
}

func (m jsonMember) texts() ([]string, *problem) {
	read, p := readTexts(m.value, 0, m.name)
	texts := make([]string, len(read))
	for i, t := range read {
		texts[i] = t.text
	}
	return texts, m.move(p)
}

// each hands the members of the object that the value is, none for null, to f.
func (m jsonMember) each(f func(jsonMember) *problem) *problem {
	switch m.value[0] {
	case 'n':
		return nil
	case '{':
	default:
		return m.wrong("an object")
	}
	inner, p := readObject(m.value)
	if p != nil {
		return m.move(p)
	}
	for _, i := range inner {
		if p := f(i); p != nil {
			return m.move(p)
		}
	}
	return nil
}

// move turns an offset in the value into one in the text around it.
func (m jsonMember) move(p *problem) *problem {
	if p != nil {
		p.offset += m.valueAt
	}
	return p
}
