import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openapiTypeScript, { astToString } from 'openapi-typescript'

const target = fileURLToPath(new URL('src/schema.ts', import.meta.url))

/** TypeScript types of the committed OpenAPI document: the same text for the same document. */
export const renderTypes = async (): Promise<string> =>
  `// Written by npm run openapi.\n\n${astToString(
    await openapiTypeScript(new URL('../openapi/openapi.yaml', import.meta.url), {
      // Such as `extra`: any object.
      emptyObjectsUnknown: true,
    }),
  )}`

/** Of the document as it is on disk. */
export const writeTypes = async (): Promise<void> => {
  writeFileSync(target, await renderTypes())
  console.log(`Wrote ${target}`)
}
