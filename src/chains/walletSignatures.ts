import { withinDeadline, withSignal } from '../concurrency/deadline.js'
import { AppError } from '../errors.js'
import type { Logger } from '../ports/logger.js'
import type { WalletSignatures } from '../ports/walletSignatures.js'
import { namespaceOf } from '../protocol/network.js'
import type { ContractReader, SignInFamily, SignInModule } from './chain.js'

export interface WalletSignaturesDependencies {
  readonly families: readonly SignInFamily[]
  readonly contractReaders: readonly ContractReader[]
  readonly logger: Logger
}

const deadlineMs = 5_000

/** Families are loaded by the first message of one of their wallets. */
export const createWalletSignatures = (dependencies: WalletSignaturesDependencies): WalletSignatures => {
  const { families, logger } = dependencies
  const readers = new Map(dependencies.contractReaders.map((reader) => [reader.network, reader]))

  const verifyBy = async <T>(
    network: string,
    verify: (module: SignInModule, reader: ContractReader | null) => Promise<T>,
    otherwise: { readonly unsupported: T; readonly unavailable: T },
  ): Promise<T> => {
    const namespace = namespaceOf(network)
    const family = families.find((each) => each.namespace === namespace)
    if (family === undefined) return otherwise.unsupported
    try {
      const module = await family.loadSignIn()
      return await withinDeadline({ milliseconds: deadlineMs }, (signal) =>
        withSignal(verify(module, readers.get(network) ?? null), signal),
      )
    } catch (error) {
      if (error instanceof AppError && error.code === 'RATE_LIMITED') throw error
      logger.warn({ network, error }, 'sign_in.wallet_unavailable')
      return otherwise.unavailable
    }
  }

  return {
    verify: (statement) =>
      verifyBy(statement.network, (module, reader) => module.verifySignature(statement, reader), {
        unsupported: { state: 'unsupported' },
        unavailable: { state: 'unavailable' },
      }),
    verifyMessage: (text) =>
      verifyBy(text.network, (module, reader) => module.verifyMessage(text, reader), {
        unsupported: false,
        unavailable: false,
      }),
  }
}
