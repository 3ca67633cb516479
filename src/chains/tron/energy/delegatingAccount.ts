import { TronWeb } from 'tronweb'
import { z } from 'zod'
import type { Secret } from '../../../platform/secret.js'
import { encodeTransaction } from '../../../protocol/signedTransaction.js'
import { formatAddress, readAddress, type TronAddress } from '../encoding/address.js'
import type { Rpc } from '../rpc/rpc.js'

export interface Delegation {
  readonly receiver: TronAddress
  /** Staked TRX behind the energy, in sun. */
  readonly sun: number
}

interface DelegatingAccount {
  readonly address: TronAddress
  signDelegation(delegation: Delegation): Promise<EncodedTransaction>
  signUndelegation(delegation: Delegation): Promise<EncodedTransaction>
}

// Long enough for several blocks, short enough that nothing is executed much later than intended.
const validityMs = 60_000

// tronweb requires a URL, but all data that it would request is passed in.
const unusedUrl = 'http://127.0.0.1:9'

export const createDelegatingAccount = (privateKey: Secret, rpc: Pick<Rpc, 'getHead'>): DelegatingAccount => {
  const address = readAddress(TronWeb.address.fromPrivateKey(privateKey.reveal()))
  if (address === null) throw new Error('TRON_PRIVATE_KEY: is not a valid private key')
  const from = formatAddress(address)
  const { transactionBuilder, trx } = new TronWeb({ fullHost: unusedUrl })
  let lastTimestamp = 0

  /** Block reference with a timestamp that is unique among our transactions. */
  const readReference = async () => {
    const head = await rpc.getHead()
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
      const reference = await readReference()
      const delegation = await transactionBuilder.delegateResource(
        sun,
        to,
        'ENERGY',
        from,
        false,
        undefined,
        reference,
      )
      return encodeSigned(await trx.sign(delegation, privateKey.reveal()))
    },
    signUndelegation: async ({ receiver, sun }) => {
      const to = formatAddress(receiver)
      const reference = await readReference()
      const undelegation = await transactionBuilder.undelegateResource(sun, to, 'ENERGY', from, reference)
      return encodeSigned(await trx.sign(undelegation, privateKey.reveal()))
    },
  }
}

const signedShape = z.object({
  txID: z.string().regex(/^[0-9a-f]{64}$/),
  raw_data_hex: z.string().regex(/^[0-9a-f]+$/),
  signature: z.tuple([z.string().regex(/^[0-9a-fA-F]{130}$/)]),
})

interface EncodedTransaction {
  readonly transaction: string
  readonly bytes: string
}

/** Serializes a transaction that tronweb built and signed: raw_data, then the signature. */
const encodeSigned = (signed: unknown): EncodedTransaction => {
  const { txID, raw_data_hex: raw, signature } = signedShape.parse(signed)
  return { transaction: txID, bytes: encodeTransaction(raw, [signature[0].toLowerCase()]) }
}
