import { type Address, beginCell, type Cell, loadMessageRelaxed, type Slice } from '@ton/core'
import { isEmpty, isLoadable, tryParse } from '../encoding/cells.js'

/** How a wallet's version lays out what it is asked for. */
export type RequestLayout = 'v3' | 'v4' | 'v5'

/** One message that a wallet is asked to send. */
export interface OrderedMessage {
  readonly mode: number
  readonly destination: Address
  readonly nanoTon: bigint
  readonly body: Cell
  /** Bounceable, without code, from the wallet itself, without fees of its own. */
  readonly isPlain: boolean
}

/** What a wallet's owner signed: exactly one message. */
export interface WalletRequest {
  readonly layout: RequestLayout
  /** Version 5 says who may bring the request: anybody from outside, or another contract. */
  readonly isForRelay: boolean
  readonly walletId: number
  readonly validUntil: number
  readonly seqno: number
  readonly signature: Buffer
  /** What the signature signs: all but itself. */
  readonly signedHash: Buffer
  readonly message: OrderedMessage
}

const externalRequest = 0x7369676e
const relayedRequest = 0x73696e74
const sendMessageAction = 0x0ec3c86d
const signatureBits = 512

// Nothing but the number of bits tells the versions apart, and with one message no two are of the same length.
const layouts: ReadonlyMap<number, RequestLayout> = new Map([
  [signatureBits + 104, 'v3'],
  [signatureBits + 112, 'v4'],
  [signatureBits + 130, 'v5'],
])

/** Reads the body of a wallet's message; null for whatever asks for more, less or other than one message. */
export const readWalletRequest = (body: Cell): WalletRequest | null => {
  const layout = layouts.get(body.bits.length)
  if (layout === undefined || body.refs.length !== 1) return null
  return tryParse(() => (layout === 'v5' ? readTail(body) : readFront(body, layout)))
}

/** Versions 3 and 4: signature, wallet, time, number, (operation,) mode, message. */
const readFront = (body: Cell, layout: 'v3' | 'v4'): WalletRequest | null => {
  const slice = body.beginParse()
  const signature = slice.loadBuffer(signatureBits / 8)
  const signedHash = slice.asCell().hash()
  const fields = { walletId: slice.loadUint(32), validUntil: slice.loadUint(32), seqno: slice.loadUint(32) }
  // Plugins are none of a payment's business.
  if (layout === 'v4' && slice.loadUint(8) !== 0) return null
  const message = readMessage(slice.loadUint(8), slice.loadRef())
  return message && { layout, isForRelay: false, ...fields, signature, signedHash, message }
}

/** Version 5: operation, wallet, time, number, actions, signature. */
const readTail = (body: Cell): WalletRequest | null => {
  const slice = body.beginParse()
  const operation = slice.loadUint(32)
  if (operation !== externalRequest && operation !== relayedRequest) return null
  const fields = { walletId: slice.loadUint(32), validUntil: slice.loadUint(32), seqno: slice.loadUint(32) }
  const actions = slice.loadMaybeRef()
  const hasExtendedActions = slice.loadBit()
  if (actions === null || hasExtendedActions) return null
  const signedBits = body.bits.substring(0, body.bits.length - signatureBits)
  const signedHash = beginCell().storeBits(signedBits).storeRef(actions).endCell().hash()
  const signature = slice.loadBuffer(signatureBits / 8)
  const message = readOnlyAction(actions.beginParse())
  const isForRelay = operation === relayedRequest
  return message && { layout: 'v5', isForRelay, ...fields, signature, signedHash, message }
}

const readOnlyAction = (list: Slice): OrderedMessage | null => {
  const before = list.loadRef()
  if (before.bits.length > 0 || before.refs.length > 0) return null
  if (list.loadUint(32) !== sendMessageAction) return null
  const message = readMessage(list.loadUint(8), list.loadRef())
  return isEmpty(list) ? message : null
}

const readMessage = (mode: number, cell: Cell): OrderedMessage | null => {
  if (!isLoadable(cell)) return null
  const slice = cell.beginParse()
  const { info, init, body } = loadMessageRelaxed(slice)
  if (info.type !== 'internal') return null
  // A body within the message is all that is left; behind one of its own nothing is.
  const isWhole = isEmpty(slice) || slice.asCell().equals(body)
  // The network takes the higher of the fees that it computes and those that a message names.
  const hasOwnFees = !info.ihrDisabled || info.ihrFee !== 0n || info.forwardFee !== 0n
  const isFromWallet = info.src == null && init == null
  const isPlain = isWhole && info.bounce && !info.bounced && isFromWallet && !hasOwnFees
  return { mode, destination: info.dest, nanoTon: info.value.coins, body, isPlain }
}
