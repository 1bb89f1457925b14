package main

import (
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub/client"
)

func TestProjectIsFoundByIDNameOrFolder(t *testing.T) {
	projects := []client.Project{
		{ID: "1", Name: "shop", Root: "/home/ana/shop"}, {ID: "2", Name: "twin", Root: "/home/ana/shop/inner"},
		{ID: "3", Name: "twin"}, {ID: "shop", Name: "odd", Root: "/home/ana/odd"},
	}
	for _, c := range []struct{ wanted, dir, id string }{
		{"1", "", "1"}, {"odd", "", "shop"}, {"shop", "", "shop"}, // an id goes before a name
		{"", "/home/ana/shop", "1"}, {"", "/home/ana/shop/src", "1"}, {"", "/home/ana/shop/inner/x", "2"},
	} {
		if id, err := whichProject(projects, c.wanted, c.dir); err != nil || id != c.id {
			t.Errorf("%+v: %q, %v", c, id, err)
		}
	}
	for _, c := range []struct{ wanted, dir string }{{"twin", ""}, {"none", ""}, {"", "/home/ana"}, {"", "/home/ana/shop-2"}} {
		_, err := whichProject(projects, c.wanted, c.dir)
		failuretest.Produced(t, err, failure.ProjectUnclear)
	}
}
