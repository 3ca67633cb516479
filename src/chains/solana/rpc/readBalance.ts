import { networkUnavailable } from '../../common/networkUnavailable.js'
import type { FindAssociatedAccount } from '../encoding/associatedAccount.js'
import { tokenPrograms } from '../encoding/programs.js'
import { readTokenAccount } from '../encoding/tokenAccount.js'
import type { Rpc } from './rpc.js'

interface BalanceReader {
  readonly network: string
  readonly rpc: Pick<Rpc, 'getAccounts'>
  readonly findAssociatedAccount: FindAssociatedAccount
}

/**
 * Of the owner's associated account, from which payments are made: that of the token program which owns the mint. One
 * request asks for the accounts of both programs.
 */
export const readBalance = async (
  { network, rpc, findAssociatedAccount }: BalanceReader,
  { mint, owner }: { readonly mint: string; readonly owner: string },
): Promise<bigint> => {
  const addresses = tokenPrograms.map((program) => findAssociatedAccount({ owner, mint, program }))
  const [mintAccount, ...accounts] = await rpc.getAccounts([mint, ...addresses])
  const refuse = (problem: string) => networkUnavailable(network, new Error(problem))
  if (mintAccount === undefined || accounts.length !== addresses.length) {
    throw refuse('The node did not return an account for each address')
  }
  const account = accounts[tokenPrograms.indexOf(mintAccount?.owner ?? '')] ?? null
  // Lamports can be sent to the address before the token account exists.
  if (mintAccount === null || account === null || account.owner !== mintAccount.owner) return 0n
  const tokens = readTokenAccount(account)
  if (tokens === null || tokens.mint !== mint) {
    throw refuse('The node returned another account than the associated one')
  }
  // Associated accounts can be given away.
  return tokens.owner === owner ? tokens.amount : 0n
}
