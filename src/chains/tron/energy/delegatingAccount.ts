import { TronWeb } from 'tronweb'
import type { Secret } from '../../../platform/secret.js'
import { formatAddress, readAddress, type TronAddress } from '../encoding/address.js'
import { type EncodedTransaction, encodeSigned } from '../encoding/encodeSigned.js'
import type { TronRpc } from '../rpc/rpc.js'

/** Energy on its way from us to a payer, or back. */
export interface Delegation {
  readonly receiver: TronAddress
  /** How much of our staked TRX gives it. */
  readonly sun: number
}

/** Signs what lends energy and what takes it back. */
export interface DelegatingAccount {
  readonly address: TronAddress
  signDelegation(loan: Delegation): Promise<EncodedTransaction>
  signUndelegation(loan: Delegation): Promise<EncodedTransaction>
}

// Long enough for several blocks, short enough that nothing of ours happens much later than it was meant to.
const validityMs = 60_000

// tronweb wants a node; it is given everything that it would ask one for.
const nowhere = 'http://127.0.0.1:9'

/** The account of a private key; throws for a key that is none. */
export const createDelegatingAccount = (
  privateKey: Secret,
  node: Pick<TronRpc, 'getHead'>,
): DelegatingAccount => {
  const address = readAddress(TronWeb.address.fromPrivateKey(privateKey.reveal()))
  if (address === null) throw new Error('TRON_PRIVATE_KEY: is no key')
  const from = formatAddress(address)
  const { transactionBuilder, trx } = new TronWeb({ fullHost: nowhere })
  let lastTimestamp = 0

  /** What every transaction names of the chain; no two of ours are the same. */
  const readReference = async () => {
    const head = await node.getHead()
    lastTimestamp = Math.max(head.timestamp, lastTimestamp + 1)
    return {
      blockHeader: {
        ref_block_bytes: head.id.slice(12, 16),
        ref_block_hash: head.id.slice(16, 32),
        expiration: head.timestamp + validityMs,
        timestamp: lastTimestamp,
      },
    }
  }

  return {
    address,
    signDelegation: async ({ receiver, sun }) => {
      const to = formatAddress(receiver)
      const named = await readReference()
      const loan = await transactionBuilder.delegateResource(sun, to, 'ENERGY', from, false, undefined, named)
      return encodeSigned(await trx.sign(loan, privateKey.reveal()))
    },
    signUndelegation: async ({ receiver, sun }) => {
      const to = formatAddress(receiver)
      const named = await readReference()
      const back = await transactionBuilder.undelegateResource(sun, to, 'ENERGY', from, named)
      return encodeSigned(await trx.sign(back, privateKey.reveal()))
    },
  }
}
