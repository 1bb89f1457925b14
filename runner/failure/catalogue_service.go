package failure

// Names that concern services, packages, up and down.
const (
	ServiceRoot           Name = "service_root"
	ServiceAccount        Name = "service_account"
	ServiceOtherKind      Name = "service_other_kind"
	ServiceExistingClient Name = "service_existing_client"
	ServicePath           Name = "service_path"
	ServiceFolder         Name = "service_folder"
	ServiceProjectFile    Name = "service_project_file"
	ServiceVariable       Name = "service_variable"
	ServiceNotWritten     Name = "service_not_written"
	ServiceNotActivated   Name = "service_not_activated"
	ServiceManagerSilent  Name = "service_manager_silent"
	ServiceNotInstalled   Name = "service_not_installed"
	ServiceForeignUnit    Name = "service_foreign_unit"
	LingerRefused         Name = "linger_refused"
)

var serviceArea = map[Name]texts{
	ServiceRoot: {
		`root's own service would run what agents propose as root`,
		"install it as the person whose projects it serves, or with `sudo runner service install --system --as-user NAME`"},
	ServiceAccount: {
		`the service can't run as this account`,
		"name the person whose projects it serves: `--as-user NAME`"},
	ServiceOtherKind: {
		`a service of the other kind is installed, and both would serve the same project`,
		"keep one of the two: `runner service uninstall` removes the other"},
	ServiceExistingClient: {
		`this service of the existing client serves the same project, and the server accepts only one`,
		"remove it with the existing client's own `service uninstall`, after copying its key where you still need it"},
	ServicePath: {
		`the path holds a quote, a line break or another control character, which a unit can't carry safely`,
		`rename the folder`},
	ServiceFolder: {
		`the folder lies outside the home folder, where it may not be mounted when the service starts`,
		`choose a folder below the home folder`},
	ServiceProjectFile: {
		`the folder belongs to one project, so the machine's service would serve that project alone`,
		"install it for the project, or from another folder: `--dir DIR`"},
	ServiceVariable: {
		`the variable can't be kept in the service's environment`,
		"give it to the commands that need it with the setting `commands.environment`, whose file is private"},
	ServiceNotWritten: {
		`the service's unit could not be written`,
		`look at owner and mode of the folder`},
	ServiceNotActivated: {
		`the unit is in place, but the service manager did not start it`,
		"do what the manager's words ask for, then run `runner service start`"},
	ServiceManagerSilent: {
		`the service manager did not answer`,
		`log in to a full session of this user and try again`},
	ServiceNotInstalled: {
		`there is no such service`,
		"install it with `runner service install`"},
	ServiceForeignUnit: {
		`a unit of this name is there which this program has not written`,
		`look at it, and move it away if nothing needs it`},
	LingerRefused: {
		`this user may not let services live on after logout`,
		"run `sudo loginctl enable-linger USER` once; until then the services end with the last session"},
}
