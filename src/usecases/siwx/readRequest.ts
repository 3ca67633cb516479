import { AppError } from '../../errors.js'

interface Origin {
  readonly domain: string
  readonly uri: string
}

/** The domain is the host of the URI unless the server names another. */
export const readOrigin = (uri: string, domain: string | undefined): Origin => {
  const url = URL.canParse(uri) ? new URL(uri) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol) || !/^[\x21-\x7e]+$/.test(uri)) {
    throw new AppError('INVALID_REQUEST', 'uri: must be an absolute http or https URL')
  }
  return { domain: domain ?? url.host, uri }
}

/** Null: any chain. */
export const listChains = (request: {
  readonly chainId?: string | undefined
  readonly chains?: readonly string[] | undefined
}): readonly string[] | null => {
  const chains = [...(request.chainId === undefined ? [] : [request.chainId]), ...(request.chains ?? [])]
  return chains.length === 0 ? null : [...new Set(chains)]
}
