import fc from 'fast-check'

const nastyValues = fc.constantFrom<unknown>(
  null,
  true,
  '',
  ' ',
  '\0',
  '\ud800',
  '-1',
  '1e9',
  '0x10',
  '9'.repeat(90),
  -1,
  0.5,
  Number.MAX_VALUE,
  [],
  {},
  [[]],
  { toString: 1, constructor: {}, hasOwnProperty: null },
  'x'.repeat(10_000),
)

const listPaths = (value: unknown, path: readonly string[] = []): readonly (readonly string[])[] => {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, part]) => listPaths(part, [...path, key]))]
}

/** Replaces the value at a path; undefined removes it. */
const replaceAt = (
  value: unknown,
  [key, ...rest]: readonly string[],
  replacement: { value: unknown } | null,
): unknown => {
  if (key === undefined) return replacement?.value
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([name, part]) => {
    if (name !== key) return [[name, part]]
    if (rest.length === 0 && replacement === null) return []
    return [[name, replaceAt(part, rest, replacement)]]
  })
  return Object.fromEntries(entries)
}

const structuralMutant = (goodBody: fc.Arbitrary<string>) =>
  fc
    .tuple(
      goodBody,
      fc.array(
        fc.tuple(
          fc.nat(),
          fc.option(fc.oneof(nastyValues, fc.jsonValue({ maxDepth: 3 })).map((value) => ({ value }))),
        ),
        { minLength: 1, maxLength: 4 },
      ),
    )
    .map(([good, mutations]) => {
      const mutant = mutations.reduce<unknown>((body, [place, replacement]) => {
        const paths = listPaths(body)
        return replaceAt(body, paths[place % paths.length] ?? [], replacement)
      }, JSON.parse(good))
      return Buffer.from(JSON.stringify(mutant) ?? '')
    })

const byteMutant = (goodBody: fc.Arbitrary<string>) =>
  fc
    .tuple(
      goodBody,
      fc.array(fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 4 }), fc.nat({ max: 40 })), {
        minLength: 1,
        maxLength: 5,
      }),
    )
    .map(([good, cuts]) =>
      cuts.reduce<Buffer>((bytes, [place, inserted, removed]) => {
        const at = place % (bytes.length + 1)
        return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)])
      }, Buffer.from(good)),
    )

export const mutantsOf = (bodies: readonly unknown[]) => {
  const goodBody = fc.constantFrom(...bodies.map((body) => JSON.stringify(body)))
  return [
    ['in its structure', structuralMutant(goodBody)],
    ['in its bytes', byteMutant(goodBody)],
  ] as const
}
