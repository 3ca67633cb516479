import { z } from 'zod'
import { openPool } from '../src/stores/postgres/database/pool.js'

// A run exceeds the rate of one account, even in the largest tier.
const accounts = 40

const registration = z.object({ apiKey: z.string() })

export const registerAccounts = async (url: string, databaseUrl: string): Promise<readonly string[]> => {
  const apiKeys: string[] = []
  for (let index = 0; index < accounts; index += 1) {
    const response = await fetch(`${url}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: `bench${index}@example.com`, projectName: 'bench' }),
    })
    apiKeys.push(registration.parse(await response.json()).apiKey)
  }
  const pool = openPool({ url: databaseUrl, maxConnections: 1, onError: () => undefined })
  await pool.query("update accounts set tier = 'enterprise'")
  await pool.end()
  return apiKeys
}
