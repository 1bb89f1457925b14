package failure

// Names that concern login, device keys, the keychain, logout.
const (
	DeviceKeyExists   Name = "device_key_exists"
	DeviceKeyNotBegun Name = "device_key_not_begun"
	DeviceKeyFolder   Name = "device_key_folder"

	NotLoggedIn          Name = "not_logged_in"
	PairingDamaged       Name = "pairing_damaged"
	PairingNewer         Name = "pairing_newer"
	PairingRestored      Name = "pairing_restored"
	PairingModes         Name = "pairing_modes"
	PairingUnwritable    Name = "pairing_unwritable"
	MachineChanged       Name = "machine_changed"
	KeychainUnavailable  Name = "keychain_unavailable"
	KeychainKeyMissing   Name = "keychain_key_missing"
	KeychainUnused       Name = "keychain_unused"
	CredentialExpired    Name = "credential_expired"
	CredentialRevoked    Name = "credential_revoked"
	CredentialUnknown    Name = "credential_unknown"
	LoginExpired         Name = "login_expired"
	LoginDenied          Name = "login_denied"
	LoginUnsupported     Name = "login_unsupported"
	LoginElsewhere       Name = "login_elsewhere"
	LogoutUnconfirmed    Name = "logout_unconfirmed"
	ProjectsFileInvalid  Name = "projects_file_invalid"
	RootNotConfirmedHere Name = "root_not_confirmed_here"
)

var pairingArea = map[Name]texts{
	DeviceKeyExists: {
		`a device key is there already, and a daemon may be using it; nothing was changed`,
		"to replace it, revoke it on the server, remove the file, and run `runner device-key create` again"},
	DeviceKeyNotBegun: {
		`there is no key that waits for its id`,
		"make one with `runner device-key create`, and register what it prints"},
	DeviceKeyFolder: {
		`a device key can't be kept in this folder`,
		"choose a folder below your home that you may write, with `--dir`"},

	NotLoggedIn: {
		`this machine is not paired with a server`,
		"pair it with `runner login`, or with a hub of its own with `runner up`"},
	PairingDamaged: {
		`the pairing can't be read, and neither can its last good copy`,
		"pair this machine again with `runner login`, and revoke the old one on the server"},
	PairingNewer: {
		`the pairing was written by a newer runner`,
		`use that version or a later one; the file was left as it is`},
	PairingRestored: {
		`the pairing could not be read, after a loss of power perhaps; its last good copy was put in its place`,
		`nothing has to be done; check the disk if it happens again`},
	PairingModes: {
		`others could reach the pairing; that was repaired`,
		"if somebody may have read the key, revoke it with `runner logout` and pair again"},
	PairingUnwritable: {
		`the pairing can't be kept`,
		`look at owner and mode of the folder, and at free space`},
	MachineChanged: {
		`the pairing was made on another machine: this one is a clone, or was restored from the other's backup`,
		"pair this machine with a key of its own: `runner login`"},
	KeychainUnavailable: {
		`the system's keychain can't be used`,
		"unlock it, or set `pairing.keychain` to false and run `runner login` to keep the key in a file"},
	KeychainKeyMissing: {
		`the key of this pairing is not in the system's keychain any more`,
		"pair this machine again with `runner login`"},
	KeychainUnused: {
		"the key lies in a file, although `pairing.keychain` is set: it was paired before that",
		"pair this machine again with `runner login`, which puts the key into the keychain"},
	CredentialExpired: {
		`the time of this credential, or of its signature, is over`,
		"check this machine's clock; a token that has expired is replaced by a new one from the server"},
	CredentialRevoked: {
		`this credential was revoked on the server, or the person who had it let in is no member any more`,
		"if that was not meant, pair this machine again with `runner login`"},
	CredentialUnknown: {
		`the server does not know this credential: another server answers at the address, or it was set up anew`,
		"check the address; to pair with what answers there now, run `runner login`"},
	LoginExpired: {
		`nobody let this machine in before the code expired`,
		"run `runner login` again, and approve its code in time"},
	LoginDenied: {
		`the person who was asked refused to let this machine in`,
		"if that was not meant, run `runner login` again"},
	LoginUnsupported: {
		`the server has no login for machines (RFC 8628)`,
		"check the address; where people register keys themselves, make one with `runner device-key create`"},
	LoginElsewhere: {
		`this machine is paired with another server, and has one pairing`,
		"give that one up with `runner logout`, and log in again"},
	LogoutUnconfirmed: {
		`the pairing was removed here, but the server could not be told, so that it still knows the key`,
		"revoke the machine there: at the hub, on the page's machines panel"},
	ProjectsFileInvalid: {
		`the list of this machine's projects can't be read as it stands`,
		"correct it, or remove it and add the projects again with `runner project add`"},
	RootNotConfirmedHere: {
		`the server names this folder for a project that was never added on this machine`,
		"if the folder is meant, run `runner project add` in it on this machine"},
}
