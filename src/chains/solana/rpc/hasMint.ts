import { tokenPrograms } from '../encoding/programs.js'
import type { Rpc } from './rpc.js'

/** Whether a token program owns the account. */
export const hasMint = async (rpc: Pick<Rpc, 'getAccounts'>, mint: string): Promise<boolean> => {
  const [account = null] = await rpc.getAccounts([mint])
  return account !== null && tokenPrograms.includes(account.owner)
}
