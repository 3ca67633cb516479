import { registerAccount } from '../support/registerAccount.js'

const fullKey = /^qtn_sk_[A-Za-z0-9_]+$/

/** The API key of a new account for the shop; null where it goes by mail (REGISTRATION=verified). */
export const openAccount = async (facilitatorUrl: string): Promise<string | null> => {
  const account = { email: 'shop@demo.example', projectName: 'Demo shop' }
  const apiKey = await registerAccount(facilitatorUrl, account)
  return fullKey.test(apiKey) ? apiKey : null
}
