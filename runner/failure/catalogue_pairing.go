package failure

// Names that concern login, device keys, the keychain, logout.
const ()

var pairingArea = map[Name]texts{}
