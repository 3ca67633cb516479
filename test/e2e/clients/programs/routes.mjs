/** What every shop sells: one report per family, for one cent. */
export const report = { forecast: 'Sunny, with a chance of micropayments' }

export const price = '$0.01'
export const amount = '10000'

/** Options of version 2 servers of the @x402 kind. */
export const acceptsOf = ({ network, payTo }, scheme = 'exact') => ({ scheme, price, network, payTo })

/** Routes of version 2 servers of the @x402 kind. */
export const routesOf = (families, scheme) =>
  Object.fromEntries(
    Object.entries(families).map(([family, terms]) => [
      `GET /${family}`,
      { accepts: acceptsOf(terms, scheme), description: 'Tomorrow’s weather', mimeType: 'application/json' },
    ]),
  )

/** Requirements in version 1, for servers that take them whole. */
export const requirementsV1 = ({ name, asset, payTo, extra }) => ({
  scheme: 'exact',
  network: name,
  maxAmountRequired: amount,
  resource: 'http://shop.example/report',
  description: 'Tomorrow’s weather',
  mimeType: 'application/json',
  payTo,
  maxTimeoutSeconds: 300,
  asset,
  ...(extra === undefined ? {} : { extra }),
})

/** Requirements in version 2. */
export const requirementsV2 = ({ network, asset, payTo, extra }) => ({
  scheme: 'exact',
  network,
  amount,
  payTo,
  maxTimeoutSeconds: 300,
  asset,
  ...(extra === undefined ? {} : { extra }),
})
