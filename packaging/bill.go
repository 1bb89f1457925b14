package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// bill writes the bill of materials of a binary in the form of SPDX 2.3: the modules that the binary itself says it was
// linked from, each with the checksum of go.sum.
func (r release) bill(binary string, t target, path string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("reading what the binary was built from: %w", err)
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	name := fmt.Sprintf("runner %s for %s/%s", r.version, t.system, t.arch)
	doc := spdx{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name,
		// The namespace must be one of this document alone, and the same in each build of it.
		Namespace: "https://brabo.dev/runner/spdx/" + digest,
		Creation:  spdxCreation{Created: r.when.Format(time.RFC3339), Creators: []string{"Tool: runner-packaging"}},
	}
	main := spdxPackage{
		ID: "SPDXRef-runner", Name: info.Main.Path, Version: r.version, Location: "NOASSERTION", Concluded: "NOASSERTION",
		Declared: "NOASSERTION", Copyright: "NOASSERTION", FileName: filepath.Base(binary),
		Checksums: []spdxChecksum{{"SHA256", digest}}, Purpose: "APPLICATION",
		References: []spdxReference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + info.Main.Path + "@" + r.version}},
	}
	doc.Packages = append(doc.Packages, main)
	doc.Relations = append(doc.Relations, spdxRelation{doc.ID, "DESCRIBES", main.ID})
	add := func(path, version, sum string) {
		p := spdxPackage{
			ID: fmt.Sprintf("SPDXRef-module-%d", len(doc.Packages)), Name: path, Version: version, Location: "NOASSERTION",
			Concluded: "NOASSERTION", Declared: "NOASSERTION", Copyright: "NOASSERTION", Purpose: "LIBRARY",
			References: []spdxReference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}},
		}
		if sum != "" {
			p.Comment = "go.sum " + sum
		}
		doc.Packages = append(doc.Packages, p)
		doc.Relations = append(doc.Relations, spdxRelation{main.ID, "DEPENDS_ON", p.ID})
	}
	add("stdlib", info.GoVersion, "")
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		add(dep.Path, dep.Version, dep.Sum)
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the bill of materials: %w", err)
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// The form of an SPDX document, as far as it is used here.
type (
	spdx struct {
		Version   string         `json:"spdxVersion"`
		License   string         `json:"dataLicense"`
		ID        string         `json:"SPDXID"`
		Name      string         `json:"name"`
		Namespace string         `json:"documentNamespace"`
		Creation  spdxCreation   `json:"creationInfo"`
		Packages  []spdxPackage  `json:"packages"`
		Relations []spdxRelation `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		ID         string          `json:"SPDXID"`
		Name       string          `json:"name"`
		Version    string          `json:"versionInfo"`
		FileName   string          `json:"packageFileName,omitempty"`
		Location   string          `json:"downloadLocation"`
		Analyzed   bool            `json:"filesAnalyzed"`
		Concluded  string          `json:"licenseConcluded"`
		Declared   string          `json:"licenseDeclared"`
		Copyright  string          `json:"copyrightText"`
		Comment    string          `json:"comment,omitempty"`
		Purpose    string          `json:"primaryPackagePurpose"`
		Checksums  []spdxChecksum  `json:"checksums,omitempty"`
		References []spdxReference `json:"externalRefs"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxReference struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelation struct {
		From string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)
