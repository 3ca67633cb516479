import { readFileSync } from 'node:fs'
import { z } from 'zod'

const manifest = z.object({ version: z.string(), description: z.string() })

/** The version and the sentence of package.json, which stands beside `src` and `dist` alike. */
export const { version, description } = manifest.parse(
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')),
)
