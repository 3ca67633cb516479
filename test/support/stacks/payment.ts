import { Cl, Pc } from '@stacks/transactions'
import { writeDirectBody } from '../directBody.js'
import type { StacksKey } from './keys.js'
import type { StacksChain } from './stacksChain.js'

export const stacksTestnet = 'stacks:2147483648'

interface TransferOptions {
  readonly token: string
  readonly to: string
  readonly amount: bigint
  readonly memo?: string
  /** What the payer allows to leave the account, if it differs. */
  readonly allowed?: bigint
}

/** A SIP-010 transfer as wallets make it: whatever else would leave the account is denied. */
export const transfer = (
  chain: StacksChain,
  payer: StacksKey,
  { token, to, amount, memo, allowed = amount }: TransferOptions,
): Promise<string> => {
  const [address = '', name = ''] = token.split('.')
  const limit = Pc.principal(payer.address).willSendEq(allowed).ft(`${address}.${name}`, 'usd')
  const text = memo === undefined ? Cl.none() : Cl.some(Cl.bufferFromUtf8(memo))
  const args = [Cl.uint(amount), Cl.principal(payer.address), Cl.principal(to), text]
  return chain.call(payer, token, 'transfer', args, { postConditions: [limit], postConditionMode: 'deny' })
}

export interface ProofOptions {
  readonly transaction: string
  readonly from: string
  readonly payTo: string
  readonly token: string
  readonly amount?: bigint
  readonly maxTimeoutSeconds?: number
  readonly extra?: Readonly<Record<string, unknown>>
  /** Fields of the payload beside or instead of the usual ones. */
  readonly payload?: Readonly<Record<string, unknown>>
}

/** A body in the form that clients send: the asset as CAIP-19, the hash without prefix. */
export const stacksPayment = ({
  transaction,
  from,
  payTo,
  token,
  amount = 10_000n,
  maxTimeoutSeconds = 300,
  extra = {},
  payload = {},
}: ProofOptions) => {
  const terms = {
    network: stacksTestnet,
    asset: `${stacksTestnet}/sip010:${token}`,
    amount,
    payTo,
    maxTimeoutSeconds,
    extra: { assetSymbol: 'USD', assetDecimals: 6, contractAddress: token, networkName: 'testnet', ...extra },
  }
  return writeDirectBody(terms, { txId: transaction.replace(/^0x/, ''), from, ...payload })
}
