import { z } from 'zod'
import { pollUntil } from './pollUntil.js'

const registered = z.object({ apiKey: z.string() })

/**
 * Registers and returns the API key. A service whose Redis misses its deadline, as on a busy machine, closes registration
 * for a few seconds with 503; it is asked again. Any other refusal is an error.
 */
export const registerAccount = async (
  serviceUrl: string,
  account: { readonly email: string; readonly projectName: string },
): Promise<string> => {
  let refusal = ''
  return await pollUntil(
    async () => {
      const response = await fetch(`${serviceUrl}/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(account),
      })
      if (response.ok) return registered.parse(await response.json()).apiKey
      refusal = `${response.status} ${await response.text()}`
      if (response.status !== 503) throw new Error(`POST /register answered ${refusal}`)
      return null
    },
    'registration to be open',
    () => refusal,
  )
}
