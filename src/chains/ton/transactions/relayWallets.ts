import { type KeyObject, sign } from 'node:crypto'
import { type Address, Cell, internal, loadMessage, SendMode } from '@ton/core'
import { mnemonicToPrivateKey, mnemonicValidate } from '@ton/crypto'
import { WalletContractV5R1 } from '@ton/ton'
import type { Secret } from '../../../platform/secret.js'
import type { SignedTransaction } from '../../../ports/settlementJournal.js'
import { readEd25519Seed } from '../../common/ed25519.js'
import { tryParse } from '../encoding/cells.js'
import type { Prepared } from '../exact/prepare.js'
import { writeExternalMessage } from '../wallets/walletMessage.js'

export interface RelayWallet {
  readonly contract: WalletContractV5R1
  readonly address: Address
  /** Raw address, used as the lane's signer. */
  readonly signer: string
  sign(hash: Buffer): Buffer
}

export interface RelayKey {
  readonly publicKey: Buffer
  readonly privateKey: KeyObject
}

/** Standard TON derivation; throws for an invalid mnemonic. */
export const deriveRelayKey = async (mnemonic: Secret): Promise<RelayKey> => {
  const words = mnemonic.reveal().split(' ')
  if (!(await mnemonicValidate(words))) throw new Error('TON_MNEMONIC: is not a valid TON mnemonic')
  const { publicKey, secretKey } = await mnemonicToPrivateKey(words)
  return { publicKey, privateKey: readEd25519Seed(secretKey.subarray(0, 32)) }
}

export const createRelayWallets = (
  { publicKey, privateKey }: RelayKey,
  globalId: number,
  count: number,
): readonly RelayWallet[] =>
  Array.from({ length: count }, (_, subwalletNumber) => {
    const context = { walletVersion: 'v5r1', workchain: 0, subwalletNumber } as const
    const contract = WalletContractV5R1.create({
      publicKey,
      walletId: { networkGlobalId: globalId, context },
    })
    return {
      contract,
      address: contract.address,
      signer: contract.address.toRawString(),
      sign: (hash) => sign(null, hash, privateKey),
    }
  })

interface RelayEnvelope {
  readonly seqno: number
  readonly validUntil: number
  /** False: the message deploys the relay wallet. */
  readonly isDeployed: boolean
}

// Gas of the payer's wallet for one message; unused TON stays there.
const executionNanoTon = 6_000_000n

/** TON that relaying a payment attaches: for the transfer and for the payer's wallet. */
export const sumAttachedNanoTon = ({ decoded }: Prepared): bigint =>
  decoded.request.message.nanoTon + executionNanoTon

/** Net cost of a relayed payment: most of the attached TON returns. */
export const typicalNanoTon = 45_000_000n

// Upper bounds of fees, in nanoTON: importing and executing a message of the relay wallet, and forwarding one payment of
// up to 4 KB.
const messageFeeNanoTon = 5_000_000n
export const forwardFeeNanoTon = 5_000_000n

/** Upper bound of a message's cost: all TON that it attaches, none of which is certain to return, and the fees. */
export const countRelayCost = (payments: readonly Prepared[]): bigint =>
  payments.reduce((sum, payment) => sum + sumAttachedNanoTon(payment) + forwardFeeNanoTon, messageFeeNanoTon)

/** Signs one external message with the payers' requests; without requests it only consumes the seqno. */
export const signRelayMessage = async (
  wallet: RelayWallet,
  payments: readonly Prepared[],
  { seqno, validUntil, isDeployed }: RelayEnvelope,
): Promise<SignedTransaction> => {
  const { contract } = wallet
  const body = await contract.createTransfer({
    seqno,
    timeout: validUntil,
    // A message that cannot be sent must not fail the others.
    sendMode: SendMode.PAY_GAS_SEPARATELY | SendMode.IGNORE_ERRORS,
    messages: payments.map((payment) => {
      const { message } = payment.decoded
      return internal({
        to: message.wallet,
        value: sumAttachedNanoTon(payment),
        // Returns the TON if the payer's wallet rejects.
        bounce: true,
        body: message.body,
        ...(payment.isDeployed || message.init === null ? {} : { init: message.init }),
      })
    }),
    signer: async (signing: Cell) => wallet.sign(signing.hash()),
  })
  const { bytes, hash } = writeExternalMessage({
    wallet: wallet.address,
    init: isDeployed ? null : contract.init,
    body,
  })
  return { transaction: hash, bytes }
}

/** Unix seconds; null for bytes that are not such a message. */
export const readRelayExpiry = (bytes: string): number | null =>
  tryParse(() => loadMessage(Cell.fromBase64(bytes).beginParse()).body.beginParse().skip(64).loadUint(32))
