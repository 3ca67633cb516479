import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openapiTypeScript, { astToString } from 'openapi-typescript'

const target = fileURLToPath(new URL('src/schema.ts', import.meta.url))

/** TypeScript types of the committed OpenAPI document: the same text for the same document. */
export const renderTypes = async (): Promise<string> => {
  const document = readFileSync(new URL('../openapi/openapi.json', import.meta.url), 'utf8')
  // Such as `extra`: any object.
  const types = await openapiTypeScript(JSON.parse(document, withoutObjects), { emptyObjectsUnknown: true })
  return `// Written by npm run openapi.\n\n${astToString(types)}`
}

/** Leaves examples out that are objects: they are longer than the types. */
const withoutObjects = (key: string, value: unknown): unknown =>
  key === 'examples' && Array.isArray(value) && typeof value[0] === 'object' ? undefined : value

/** Of the document as it is on disk. */
export const writeTypes = async (): Promise<void> => {
  writeFileSync(target, await renderTypes())
  console.log(`Wrote ${target}`)
}
