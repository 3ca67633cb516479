import { Keypair } from '@solana/web3.js'
import { createX402Client } from 'x402-solana/client'
import { readResponse } from '../readResponse.mjs'

export const createBuyer = ({ families: { solana } }) => {
  const keypair = Keypair.fromSecretKey(Buffer.from(solana.secret, 'hex'))
  const wallet = {
    publicKey: keypair.publicKey,
    signTransaction: async (transaction) => {
      transaction.sign([keypair])
      return transaction
    },
  }
  const client = createX402Client({ wallet, network: solana.name, rpcUrl: solana.rpcUrl })
  return async (url) => readResponse(await client.fetch(url))
}
