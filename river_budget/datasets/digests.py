"""SHA-256 of files whose content is known byte by byte.

Those that end with .xz are the files of the project's own mirror, packed by us. The .mat files are those of
the authors of the 2016 paper. For other downloads no digest is published: there, the length, the checks that
.bz2, .gz and .zip files bring with them, and the number of rows and features must do.
"""

from __future__ import annotations

SHA256 = {
    "a9a.t.xz": "d2506154212a8ede62574e5c0237977425704b2b542f1b6e6fd6b860378de433",
    "a9a.xz": "42c077cd3759b3603617ba88f8ddccf2b0c4ee6d548864fc5d252e2f231c8d6b",
    "abalone.xz": "a21e94c50176707418dc14a1e0161c53a725fbb206deb6e11aee8638edbc2387",
    "abalone_scale.xz": "0e2246ea0a1e4e05bcea29bda2eb7d81e03c603330718a851e7a7c6f99e4db19",
    "cadata.xz": "c8ac77faf0e9e232efd35f8e4f7bc3a145e303d519bd412b51d58dc10e7cfe93",
    "casp.xz": "0d1ef23b4ec5f853c586b32c52d39e5acdaf7e9d28b6ea6bf891931d97fbb651",
    "cod-rna.t.xz": "a5d4af3e11f2c6dbef113c07c2543cf03dbc6a8500bddab961f1a133dffb6140",
    "cod-rna.xz": "4fc02ec7ed427c74ca4a1f99ea90d2d82f0f528d62d885b0d4e19b8ddf146fcf",
    "cpusmall.xz": "05a1f5b9626aec09e38e81af1bd726f613d04f31443ed494e307d15493f76a3b",
    "dna.mat": "18084cf1562ef0210a162396c472ead7256bd97b96df5c89c5e4ff431399bc52",
    "dna.scale.xz": "868ee31ef63c493d1d2b7eb60bcb0e02d82956625c0bbf3a48650f4c0ce127c7",
    "elec2.xz": "d6c2e14f78818d82b8072e821daff6979a90f6e965fd50a38828a606fd146313",
    "german.mat": "18db47ba7c0b52df2c8e15864d431b07c8f548d278da1e015a29618029ce1a30",
    "german.numer.xz": "f9014f7f468178fdb509f5ec61eb5feb8eed30453b2b1ae121b28b55d335b018",
    "german.numer_scale.xz": "f1d4267688d1e6bf7b35ef60f622127c9d827b1f6e12291b09a1f46a6f971c6d",
    "housing.mat": "90991557c2787768f652a504aa9de9e426f19eafca9e5b0d70bfa5597abcf5b6",
    "housing.xz": "74b82fc29fb1e92f881697b3cef62fc1a13ea5d091a0d0025e726513cfda56cd",
    "ijcnn1.t.xz": "9c8721811d3591ba7709fc9e4b5f18c4352501835dfc7562c611115425ca14a3",
    "ijcnn1.xz": "941aa60a15a58fbc2720d317dc00e332b51b2c17dfb5ddc70267cd84b002cb13",
    "kddcup99_10pct.xz": "8796278b95022e015faab6a4e2bc2068d6f13ed40cef588c1836e98fe4d23990",
    "letter.scale.xz": "97daed189d0b34e89eac48f0599d8cbc9e8d4b2adc2e3aae4d94dd8113e05206",
    "letter.xz": "e3d28666bee02b62f557d120ea9c9a0eae3098ba0b9eb0166d84a6f9ea51b6e9",
    "mnist.t.xz": "d2ec472db0fb0a7a21ba6fbce63a664e4a981c7849006cafeb7753f4e0f45325",
    "mushrooms.xz": "9c95c720e2ba52f32f1b3f4dd11259aa80e670574b821a5b7d44ec4362df81de",
    "poker.xz": "f53c50dfd950982568cf0967d1268ea6b2d3a005588267689dce417105f8b0e2",
    "shuttle.xz": "7f5f3ef3b70e94534fe0669769ee155b29c560b9ad2915a705bc75da91da85c3",
    "usps.xz": "939cb2614fb17c34e355d00f51f6ba3824c9dcb867ed966659227d4a39bd04ca",
    "w7a.t.xz": "0b78d5b140059d62551bc9d6558fbb53b340515904b4240970e50ebfe1b61735",
    "w7a.xz": "6841ba7085cbbcea38a4e843a0f96afc794c6e1bac5e706a5c771f3ca39db85e",
    "w8a.xz": "34e316027ba09d5a8f8dc016eaa5244b2aba9e41247e0971b42114e5c22319eb",
    "spambase.xz": "5afa62f2e2dc1fe76589cdc4328ba12e3d0e5d19f3bd792dd4a0b002963e318e",
}
