import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { bytesToHex, concatHex, hashTypedData, hexToBytes } from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import { z } from 'zod'
import type { PayerWallet } from '../test/support/evm/wallets.js'

type Sign = (digest: Uint8Array, privateKey: Uint8Array) => { signature: Uint8Array; recid: number }
type CreatePublicKey = (privateKey: Uint8Array, compressed: boolean) => Uint8Array

const { ecdsaSign, publicKeyCreate } = z
  .object({
    ecdsaSign: z.custom<Sign>((value) => typeof value === 'function'),
    publicKeyCreate: z.custom<CreatePublicKey>((value) => typeof value === 'function'),
  })
  .parse(createRequire(import.meta.url)('secp256k1'))

/** An EOA that signs several times faster than viem: a run needs thousands of signatures. */
export const createPayer = (): PayerWallet => {
  const privateKey = randomBytes(32)
  return {
    address: publicKeyToAddress(bytesToHex(publicKeyCreate(privateKey, false))),
    deployment: null,
    signTypedData: async (typedData) => {
      const { signature, recid } = ecdsaSign(hexToBytes(hashTypedData(typedData)), privateKey)
      return concatHex([bytesToHex(signature), recid === 0 ? '0x1b' : '0x1c'])
    },
  }
}
