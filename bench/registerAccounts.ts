import { z } from 'zod'

const registration = z.object({ apiKey: z.string() })

/** API keys of as many mailboxes, of which one domain may have 200. */
export const registerAccounts = async (url: string, count: number): Promise<readonly string[]> => {
  const apiKeys: string[] = []
  for (let index = 0; index < count; index += 1) {
    const response = await fetch(`${url}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        email: `bench${index}@bench${Math.floor(index / 100)}.example`,
        projectName: 'bench',
      }),
    })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`account ${index} is not registered: ${JSON.stringify(answer)}`)
    apiKeys.push(registration.parse(answer).apiKey)
  }
  return apiKeys
}
