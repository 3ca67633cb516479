/** A public test mnemonic: never send anything of value to its addresses. */
export const facilitatorMnemonic =
  'accident later bachelor primary ugly hover morning strong always sign prison crouch below twin wedding sell ' +
  'install cradle core story found august curtain own'
