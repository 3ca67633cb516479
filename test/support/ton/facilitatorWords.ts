/** A mnemonic for tests, by TON's own rules; it is public, so nothing of worth may ever be at its addresses. */
export const facilitatorWords =
  'accident later bachelor primary ugly hover morning strong always sign prison crouch below twin wedding sell ' +
  'install cradle core story found august curtain own'
