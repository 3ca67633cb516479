import { randomBytes } from 'node:crypto'
import { Address, type Cell, type MessageRelaxed, type StateInit } from '@ton/core'
import { type KeyPair, keyPairFromSeed } from '@ton/crypto'
import { WalletContractV3R1, WalletContractV3R2, WalletContractV4, WalletContractV5R1 } from '@ton/ton'

export type WalletKind = 'v3r1' | 'v3r2' | 'v4r2' | 'v5r1'

interface WalletRequest {
  readonly seqno: number
  readonly validUntil: number
  readonly messages: readonly MessageRelaxed[]
  readonly mode?: number
  /** v5 only: signed for an internal message. */
  readonly isInternal?: boolean
  /** Signs instead of the owner. */
  readonly signer?: KeyPair
}

export interface TestWallet {
  readonly kind: WalletKind
  readonly address: Address
  readonly init: StateInit & { readonly code: Cell; readonly data: Cell }
  readonly keys: KeyPair
  sign(request: WalletRequest): Cell
}

export const randomKeys = (): KeyPair => keyPairFromSeed(randomBytes(32))

/** Without a known key. */
export const randomAddress = (): Address => new Address(0, randomBytes(32))

/** Does not deploy it. */
export const createWallet = (kind: WalletKind, globalId: number, keys = randomKeys()): TestWallet => {
  const { publicKey } = keys
  const toArguments = ({ seqno, validUntil, messages, mode = 1, signer = keys }: WalletRequest) => ({
    seqno,
    timeout: validUntil,
    messages: [...messages],
    sendMode: mode,
    secretKey: signer.secretKey,
  })
  const common = { workchain: 0, publicKey }
  switch (kind) {
    case 'v3r1':
    case 'v3r2': {
      const wallet = kind === 'v3r1' ? WalletContractV3R1.create(common) : WalletContractV3R2.create(common)
      const sign = (request: WalletRequest) => wallet.createTransfer(toArguments(request))
      return { kind, address: wallet.address, init: wallet.init, keys, sign }
    }
    case 'v4r2': {
      const wallet = WalletContractV4.create(common)
      const sign = (request: WalletRequest) => wallet.createTransfer(toArguments(request))
      return { kind, address: wallet.address, init: wallet.init, keys, sign }
    }
    case 'v5r1': {
      const context = { walletVersion: 'v5r1', workchain: 0, subwalletNumber: 0 } as const
      const wallet = WalletContractV5R1.create({
        publicKey,
        walletId: { networkGlobalId: globalId, context },
      })
      const sign = (request: WalletRequest) =>
        wallet.createTransfer({
          ...toArguments(request),
          authType: request.isInternal === true ? 'internal' : 'external',
        })
      return { kind, address: wallet.address, init: wallet.init, keys, sign }
    }
  }
}
