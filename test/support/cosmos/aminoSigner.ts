import type { AccountData, OfflineSigner } from '@cosmjs/proto-signing'
import { SigningStargateClient } from '@cosmjs/stargate'
import { secp256k1 } from '@noble/curves/secp256k1'
import { sha256 } from '@noble/hashes/sha2'
import type { CosmosChain } from './cosmosChain.js'
import { addressOf } from './transaction.js'

/** Keys in order, and the characters that Go escapes. */
const serialize = (document: unknown): string =>
  JSON.stringify(document, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
      : value,
  )
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e')
    .replaceAll('&', '\\u0026')

/** A client that signs by SIGN_MODE_LEGACY_AMINO_JSON, as hardware wallets do. */
export const connectAminoSigner = async (chain: CosmosChain, privateKey: Uint8Array, signsFor?: string) => {
  const publicKey = secp256k1.getPublicKey(privateKey, true)
  const address = addressOf(publicKey, chain.ledger.prefix)
  const account: AccountData = { address: signsFor ?? address, algo: 'secp256k1', pubkey: publicKey }
  const signer: OfflineSigner = {
    getAccounts: async () => [account],
    signAmino: async (_signer, document) => {
      const digest = sha256(Buffer.from(serialize(document)))
      const signature = secp256k1.sign(digest, privateKey, { lowS: true }).toCompactRawBytes()
      const toBase64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
      return {
        signed: document,
        signature: {
          pub_key: { type: 'tendermint/PubKeySecp256k1', value: toBase64(publicKey) },
          signature: toBase64(signature),
        },
      }
    },
  }
  const client = await SigningStargateClient.connectWithSigner(chain.url, signer)
  return { address, publicKey, client }
}
