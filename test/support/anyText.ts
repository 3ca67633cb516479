import fc from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 } as const

/** Any code point but the surrogates. fast-check's own `binary` takes three seconds to prepare in every process. */
const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10ffff - surrogates.count })
  .map((code) => String.fromCodePoint(code < surrogates.first ? code : code + surrogates.count))

export const anyText = (constraints: fc.StringConstraints = {}): fc.Arbitrary<string> =>
  fc.string({ ...constraints, unit: anyCharacter })
