import { AppError } from '../../errors.js'
import { canonicalNetwork } from '../../protocol/network.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import { readTerms } from './completeRequirements.js'
import type { CoreUseCases } from './useCases.js'

export const createFindRouter =
  (registry: SchemeRegistry): CoreUseCases['findRouter'] =>
  async ({ network, payTo }) => {
    const canonical = canonicalNetwork(network)
    const scheme = registry
      .list()
      .find(({ kind, findRouter }) => kind.network === canonical && findRouter !== undefined)
    if (scheme?.findRouter === undefined) {
      throw new AppError('NOT_FOUND', 'network: this instance has no router there; see /supported for upto')
    }
    if (!scheme.isAddress(payTo)) {
      throw new AppError('INVALID_REQUEST', 'payTo: must be an address of the network')
    }
    const { findRouter } = scheme
    const router = await readTerms(scheme, () => findRouter(payTo))
    if (router === null) throw new AppError('NOT_FOUND', 'payTo: this instance has no router for it')
    return {
      network,
      payTo,
      routerAddress: router.address,
      isDeployed: router.isDeployed,
      ...(router.shared === null ? {} : { sharedRouterAddress: router.shared }),
    }
  }
