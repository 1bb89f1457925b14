package failure

// Names that concern login, device keys, the keychain, logout.
const (
	DeviceKeyExists   Name = "device_key_exists"
	DeviceKeyNotBegun Name = "device_key_not_begun"
	DeviceKeyFolder   Name = "device_key_folder"
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
}
