import { readFileSync } from 'node:fs'
import { z } from 'zod'

const manifest = z.object({ version: z.string(), description: z.string() })

/** From package.json, which is two levels up from both `src` and `dist` files. */
export const { version, description } = manifest.parse(
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')),
)
