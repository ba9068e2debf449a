#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "daemon/pki/key.hpp"

// A certificate authority for tests: issues whatever it is asked for, also what no real one would.

namespace kubexm {

struct Wanted {
    std::vector<std::pair<const char*, std::string>> subject;  // {"CN", "h1"}
    std::chrono::seconds begins{-300};                         // from now
    std::chrono::seconds ends{3600};
    std::vector<std::pair<int, std::string>> extensions;  // {NID_ext_key_usage, "clientAuth"}
};

template <auto kFree>
struct TestRelease {
    void operator()(auto* object) const { kFree(object); }
};
using TestBio = std::unique_ptr<BIO, TestRelease<::BIO_free>>;
using TestKey = std::unique_ptr<EVP_PKEY, TestRelease<::EVP_PKEY_free>>;
using TestRequest = std::unique_ptr<X509_REQ, TestRelease<::X509_REQ_free>>;
using TestCertificate = std::unique_ptr<X509, TestRelease<::X509_free>>;

inline void require(bool done) {
    if (!done) throw std::runtime_error("OpenSSL refused what a test asked for");
}

inline pki::Key make_key() {
    auto key = pki::Key::generate();
    require(key.has_value());
    return std::move(*key);
}

inline std::string pem_of(const pki::Key& key) {
    const auto pem = key.pem();
    require(pem.has_value());
    return std::string(pem->reveal());
}

inline TestKey openssl_key(const pki::Key& key) {
    const std::string pem = pem_of(key);
    const TestBio bio(::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    return TestKey(::PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
}

class TestAuthority {
public:
    explicit TestAuthority(const std::string& name = "test CA")
        : key_(make_key()),
          certificate_(make(key_, {.subject = {{"CN", name}},
                                   .extensions = {{NID_basic_constraints, "critical,CA:TRUE"},
                                                  {NID_key_usage, "keyCertSign"}}})) {}

    std::string certificate() const { return pem(certificate_.get()); }
    std::string issue(const pki::Key& key, const Wanted& wanted) const {
        return pem(make(key, wanted).get());
    }
    /// For the key of a PKCS#10 request in PEM.
    std::string sign(const std::string& request, const Wanted& wanted) const {
        const TestBio bio(::BIO_new_mem_buf(request.data(), static_cast<int>(request.size())));
        const TestRequest read(::PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
        require(read != nullptr);
        return pem(make(TestKey(::X509_REQ_get_pubkey(read.get())), wanted).get());
    }

private:
    TestCertificate make(const pki::Key& key, const Wanted& wanted) const {
        return make(openssl_key(key), wanted);
    }
    TestCertificate make(const TestKey& subject_key, const Wanted& wanted) const {
        TestCertificate made(::X509_new());
        X509* certificate = made.get();
        require(::X509_set_version(certificate, 2) == 1);
        ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate), ++serial_);
        ::X509_gmtime_adj(::X509_getm_notBefore(certificate), wanted.begins.count());
        ::X509_gmtime_adj(::X509_getm_notAfter(certificate), wanted.ends.count());
        for (const auto& [field, value] : wanted.subject) {
            require(::X509_NAME_add_entry_by_txt(
                        ::X509_get_subject_name(certificate), field, MBSTRING_UTF8,
                        reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0) == 1);
        }
        X509* issuer = certificate_ ? certificate_.get() : certificate;
        require(::X509_set_issuer_name(certificate, ::X509_get_subject_name(issuer)) == 1);
        require(::X509_set_pubkey(certificate, subject_key.get()) == 1);
        for (const auto& [nid, value] : wanted.extensions) {
            X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
            require(::X509_add_ext(certificate, extension, -1) == 1);
            ::X509_EXTENSION_free(extension);
        }
        require(::X509_sign(certificate, openssl_key(key_).get(), ::EVP_sha256()) > 0);
        return made;
    }
    static std::string pem(X509* certificate) {
        const TestBio bio(::BIO_new(::BIO_s_mem()));
        require(::PEM_write_bio_X509(bio.get(), certificate) == 1);
        char* bytes = nullptr;
        const long size = BIO_get_mem_data(bio.get(), &bytes);
        return {bytes, static_cast<std::size_t>(size)};
    }

    mutable long serial_ = 0x0a00;
    pki::Key key_;
    TestCertificate certificate_;
};

}  // namespace kubexm
