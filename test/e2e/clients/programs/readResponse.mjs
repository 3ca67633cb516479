const receiptHeaders = ['payment-response', 'x-payment-response']

export const readResponse = async (response) => ({
  status: response.status,
  body: await response.text(),
  receipt: receiptHeaders.map((name) => response.headers.get(name)).find((value) => value !== null) ?? null,
})

export const readAxiosResponse = ({ status, data, headers }) => ({
  status,
  body: JSON.stringify(data),
  receipt: receiptHeaders.map((name) => headers[name]).find((value) => value !== undefined) ?? null,
})
