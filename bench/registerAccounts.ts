import { z } from 'zod'

const registration = z.object({ apiKey: z.string() })

/** API keys of as many mailboxes. */
export const registerAccounts = async (url: string, count: number): Promise<readonly string[]> => {
  const apiKeys: string[] = []
  for (let index = 0; index < count; index += 1) {
    const response = await fetch(`${url}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: `bench${index}@example.com`, projectName: 'bench' }),
    })
    apiKeys.push(registration.parse(await response.json()).apiKey)
  }
  return apiKeys
}
