import { createKeyPairSignerFromBytes } from '@solana/kit'
import { ExactEvmScheme } from '@x402/evm'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { ExactSvmSchemeV1 } from '@x402/svm/exact/v1/client'
import { privateKeyToAccount } from 'viem/accounts'

/** Client schemes of @x402 for both versions, as `@x402/fetch` and `@x402/axios` take them. */
export const createSchemes = async ({ evm, solana }) => {
  const account = evm === undefined ? null : privateKeyToAccount(evm.secret)
  const signer = solana === undefined ? null : await readSolanaSigner(solana)
  const options = { rpcUrl: solana?.rpcUrl }
  return [
    ...(account === null
      ? []
      : [
          { network: evm.network, client: new ExactEvmScheme(account) },
          { network: evm.name, client: new ExactEvmSchemeV1(account), x402Version: 1 },
        ]),
    ...(signer === null
      ? []
      : [
          { network: solana.network, client: new ExactSvmScheme(signer, options) },
          { network: solana.name, client: new ExactSvmSchemeV1(signer, options), x402Version: 1 },
        ]),
  ]
}

export const readSolanaSigner = ({ secret }) => createKeyPairSignerFromBytes(Buffer.from(secret, 'hex'))
