import { t402Client, t402HTTPClient } from '@t402/core/client'
import { ExactEvmScheme } from '@t402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@t402/evm/exact/v1/client'
import { ExactSvmScheme } from '@t402/svm/exact/client'
import { ExactSvmSchemeV1 } from '@t402/svm/exact/v1/client'
import { privateKeyToAccount } from 'viem/accounts'
import { readSolanaSigner } from '../createSchemes.mjs'
import { payOnce } from '../payOnce.mjs'

export const createBuyer = async ({ families: { evm, solana } }) => {
  const client = new t402Client()
  if (evm !== undefined) {
    const account = privateKeyToAccount(evm.secret)
    client.register(evm.network, new ExactEvmScheme(account))
    client.registerV1(evm.name, new ExactEvmSchemeV1(account))
  }
  if (solana !== undefined) {
    const signer = await readSolanaSigner(solana)
    const options = { rpcUrl: solana.rpcUrl }
    client.register(solana.network, new ExactSvmScheme(signer, options))
    client.registerV1(solana.name, new ExactSvmSchemeV1(signer, options))
  }
  return payOnce(new t402HTTPClient(client))
}
