import { isFields } from '../../protocol/fields.js'

type Read = (value: unknown, path: string) => unknown

class SchemaError extends Error {}

/**
 * A copy with the assertions of JSON Schema 2020-12 only: annotations, `format` (an annotation by default) and unknown
 * keywords are dropped. Returns the problem as text where a keyword has a wrong type. Depth is bounded by the caller.
 */
export const copySchema = (schema: unknown): { readonly schema: unknown } | { readonly problem: string } => {
  try {
    return { schema: readSchema(schema, 'schema') }
  } catch (error) {
    if (error instanceof SchemaError) return { problem: error.message }
    throw error
  }
}

const refuse = (path: string, message: string): never => {
  throw new SchemaError(`${path.slice(0, 200)} ${message}`)
}

const readSchema: Read = (value, path) => {
  if (typeof value === 'boolean') return value
  if (!isFields(value)) return refuse(path, 'is neither an object nor a boolean')
  const copied: [string, unknown][] = []
  for (const [keyword, read] of keywords) {
    if (Object.hasOwn(value, keyword)) copied.push([keyword, read(value[keyword], `${path}.${keyword}`)])
  }
  // In one document, without overriding anchors, both resolve alike.
  if (!('$ref' in value) && '$dynamicRef' in value) {
    copied.push(['$ref', readText(value.$dynamicRef, `${path}.$dynamicRef`)])
  }
  if (!('$anchor' in value) && '$dynamicAnchor' in value) {
    copied.push(['$anchor', readText(value.$dynamicAnchor, `${path}.$dynamicAnchor`)])
  }
  return Object.fromEntries(copied)
}

const readText: Read = (value, path) => (typeof value === 'string' ? value : refuse(path, 'is not a string'))

const readList =
  (read: Read): Read =>
  (value, path) =>
    Array.isArray(value)
      ? value.map((item, index) => read(item, `${path}[${index}]`))
      : refuse(path, 'is not an array')

const readMap =
  (read: Read, readKey: Read = readText): Read =>
  (value, path) => {
    if (!isFields(value)) return refuse(path, 'is not an object')
    const entries = Object.entries(value).map(([key, item]) => {
      readKey(key, path)
      return [key, read(item, `${path}.${key}`)] as const
    })
    return Object.fromEntries(entries)
  }

const types: readonly unknown[] = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']

const readType: Read = (value, path) => {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (!all.every((type) => types.includes(type))) return refuse(path, 'is not a type of JSON Schema')
  return value
}

const readNumber: Read = (value, path) =>
  typeof value === 'number' ? value : refuse(path, 'is not a number')

const readCount: Read = (value, path) =>
  Number.isInteger(value) && Number(value) >= 0 ? value : refuse(path, 'is not a whole number from 0')

const readFlag: Read = (value, path) =>
  typeof value === 'boolean' ? value : refuse(path, 'is not a boolean')

const readPattern: Read = (value, path) => {
  const text = readText(value, path)
  try {
    RegExp(String(text), 'u')
  } catch {
    return refuse(path, 'contains an invalid regular expression')
  }
  return text
}

const readAny: Read = (value) => value
const readItems: Read = (value, path) =>
  Array.isArray(value) ? readList(readSchema)(value, path) : readSchema(value, path)
const readNames = readList(readText)

const readers: Readonly<Record<string, Read>> = {
  $ref: readText,
  $id: readText,
  $anchor: readText,
  $defs: readMap(readSchema),
  definitions: readMap(readSchema),
  type: readType,
  const: readAny,
  enum: readList(readAny),
  required: readNames,
  properties: readMap(readSchema),
  patternProperties: readMap(readSchema, readPattern),
  additionalProperties: readSchema,
  unevaluatedProperties: readSchema,
  propertyNames: readSchema,
  dependentRequired: readMap(readNames),
  dependentSchemas: readMap(readSchema),
  minProperties: readCount,
  maxProperties: readCount,
  prefixItems: readList(readSchema),
  items: readItems,
  unevaluatedItems: readSchema,
  contains: readSchema,
  minContains: readCount,
  maxContains: readCount,
  minItems: readCount,
  maxItems: readCount,
  uniqueItems: readFlag,
  minimum: readNumber,
  maximum: readNumber,
  exclusiveMinimum: readNumber,
  exclusiveMaximum: readNumber,
  multipleOf: readNumber,
  minLength: readCount,
  maxLength: readCount,
  pattern: readPattern,
  allOf: readList(readSchema),
  anyOf: readList(readSchema),
  oneOf: readList(readSchema),
  not: readSchema,
  if: readSchema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: readSchema,
  else: readSchema,
}

const keywords = Object.entries(readers)
