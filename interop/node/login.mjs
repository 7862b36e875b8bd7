// A person who signs in, for the drivers on the official TypeScript SDKs: it keeps everything in memory, and its browser is one
// request to the authorization server, which agrees to everything and sends it back at once.

export function person() {
  let client, tokens, verifier, answer;
  const redirectUrl = 'http://127.0.0.1:1/back'; // nobody listens there: the answer is read from the redirect
  return {
    redirectUrl,
    clientMetadata: {
      client_name: 'interop',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none'
    },
    clientInformation: () => client,
    saveClientInformation: (given) => void (client = given),
    tokens: () => tokens,
    saveTokens: (given) => void (tokens = given),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
    async redirectToAuthorization(page) {
      const response = await fetch(page, { redirect: 'manual' });
      answer = new URL(response.headers.get('location')).searchParams;
    },
    answer: () => answer
  };
}

// signedIn connects, and when the server wants to know who calls, once more with what the person has brought. connect gets the
// options of the transport and answers the transport and what connecting comes to.
export async function signedIn(connect, finish) {
  const authProvider = person();
  const first = connect(authProvider);
  try {
    return await first.client;
  } catch (error) {
    if (!authProvider.answer()) throw error;
    await finish(first.transport, authProvider.answer());
    return connect(authProvider).client;
  }
}
